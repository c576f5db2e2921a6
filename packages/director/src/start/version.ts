/** The same as in package.json; a test compares them. */
export const VERSION = "0.1.0";

/** As `bosh env` shows it, in upstream's form. */
export const DIRECTOR_VERSION = `${VERSION} (00000000)`;
