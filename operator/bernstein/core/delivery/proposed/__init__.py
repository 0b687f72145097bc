"""Pull requests that are open: what is done about them until people have merged them."""
