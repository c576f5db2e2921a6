/**
 * The image of the built-in stemcell: it has no root file system of its own. The local CPI takes it for "this host's,
 * read-only".
 */
export const HOST_IMAGE = `${JSON.stringify({ slipway_local_image: 1, root: "host" })}\n`;
