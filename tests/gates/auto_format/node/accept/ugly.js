'use strict';

exports.ugly  = [ 1,2 ]
