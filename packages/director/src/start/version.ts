/** The same as in package.json; a test compares them. */
export const VERSION = "0.1.0";

/** Version that `bosh env` shows, in upstream's form. */
export const DIRECTOR_VERSION = `${VERSION} (00000000)`;
