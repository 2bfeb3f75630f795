// What the page does by itself; everything else is asked of the server.
"use strict";
