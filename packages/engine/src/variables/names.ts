import { BadVariableName } from "./errors.ts";

/** Director and deployment that a relative name belongs to. */
export interface Scope {
  readonly director: string;
  readonly deployment: string;
}

/** Parsed content of a placeholder. */
export interface Reference {
  /** Between the brackets, as it is written. */
  readonly written: string;
  /** Absolute name. */
  readonly name: string;
  /** Keys into its value. */
  readonly path: readonly string[];
}

export const absoluteName = (name: string, { director, deployment }: Scope): string =>
  name.startsWith("/") ? name : `/${director}/${deployment}/${name}`;

/** Limit of CredHub. Longer names would not fit into the store's indexes either. */
const LONGEST = 1024;

function checkLength(name: string): void {
  if (name.length > LONGEST)
    throw BadVariableName({
      name: `${name.slice(0, 40)}...`,
      why: `must have at most ${LONGEST} characters`,
    });
}

const CHARACTERS = "must only contain alphanumeric, underscores, dashes, or forward slash characters";

/** The name of a definition: a path into a value makes no sense there. */
export function checkDefinedName(name: string): void {
  checkLength(name);
  if (!/^[a-zA-Z0-9_\-/]+$/.test(name)) throw BadVariableName({ name, why: CHARACTERS });
  checkSlashes(name);
}

function checkSlashes(name: string): void {
  if (name.endsWith("/")) throw BadVariableName({ name, why: "must not end with a forward slash" });
  if (name.includes("//"))
    throw BadVariableName({ name, why: "must not contain two consecutive forward slashes" });
}

/** Parses the text in `((...))`. A leading `!`, which other tools want, is no part of the name. */
export function referenceOf(written: string, scope: Scope): Reference {
  checkLength(written);
  const bad = (why: string) => BadVariableName({ name: written, why });
  if (!/^[a-zA-Z0-9_\-.!/]+$/.test(written)) throw bad(CHARACTERS);
  checkSlashes(written);
  const slash = written.lastIndexOf("/");
  const last = written.slice(slash + 1);
  const wrong = (why: string) => bad(`syntax error: ${why}`);
  if (written.slice(0, slash + 1).includes(".")) throw wrong("Must not contain dots before the last slash");
  if (last.startsWith(".")) throw wrong("Must not have segment starting with a dot");
  if (last.endsWith(".")) throw wrong("Must not end name with a dot");
  if (last.includes("..")) throw wrong("Must not contain consecutive dots");
  if (written === "!" || written.lastIndexOf("!") > 0)
    throw bad(
      "contains invalid character '!'. If it is included for spiff, it should only be at the beginning of the name. Note: it will not be considered a part of the name",
    );
  const [root = "", ...path] = written.replace(/^!/, "").split(".");
  return { written, name: absoluteName(root, scope), path };
}
