// Without a validator's address Swagger UI asks one on the internet.
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
});
