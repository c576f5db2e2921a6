import * as v from "valibot";
import { hidden } from "../schema/marks.ts";

/** Limit for the text of one file on a persistent disk, in bytes. */
export const LARGEST_STORE_FILE = 1 << 20;

const LONGEST_PATH = 512;
/** Matches paths whose names lead only downward. */
const NAMES = /^(?!\.{1,2}(\/|$))[\w.@+-]{1,200}(\/(?!\.{1,2}(\/|$))[\w.@+-]{1,200})*$/;

/** Path of a file on the persistent disk: `note`, `app/settings.json`. */
export const storePath = v.pipe(
  v.string(),
  v.maxLength(LONGEST_PATH, `must be at most ${LONGEST_PATH} characters long`),
  v.regex(
    NAMES,
    "must be a path on the disk such as notes/today: relative, without .., names of letters, digits and . _ @ + -",
  ),
);

/** Text of a file. It belongs to the operator, so logs never show it. */
export const storeText = hidden(
  v.pipe(v.string(), v.maxBytes(LARGEST_STORE_FILE, `must be at most ${LARGEST_STORE_FILE >> 20} MiB long`)),
);
