import { isUnusableName } from "@slipway/protocol/schema/json";
import { type Fields, WRONG_VALUE } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";

/** The form a name takes in DNS, which must be unique among its like. */
export const canonical = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/[^a-z0-9-]/g, "");

/** Why a name has no canonical form, or nothing. */
export function canonicalProblem(name: string): string | undefined {
  const form = canonical(name);
  if (!/^[a-z]/.test(form)) return "it must begin with a letter";
  return form.endsWith("-") ? "it must not end with a hyphen" : undefined;
}

/** Names that upstream allows in paths. */
const IDENTIFIER = /^[-0-9A-Za-z_+][-0-9A-Za-z_+.]{0,254}$/;
const CONTROL = /\p{Cc}/u;
const LONGEST_NAME = 255;

/** Checks the name of a deployment, instance group or job, which are parts of paths, or of a release. */
export function checkIdentifier(report: Report, name: string, where: string): void {
  if (IDENTIFIER.test(name) && !isUnusableName(name)) return;
  report.add(
    WRONG_VALUE,
    where,
    name.length > LONGEST_NAME
      ? `a name has at most ${LONGEST_NAME} characters`
      : `'${shown(name)}' has characters that a name must not have`,
    "Use letters, digits and - _ + . only, and no . first.",
  );
}

/** Checks the name of a type, zone or network, which only links documents. Upstream takes nearly anything. */
export function checkWord(fields: Fields, name: string): void {
  if (isUnusableName(name))
    fields.wrong(WRONG_VALUE, "name", `'${name}' cannot be a name`, "Choose another name.");
  if (name.length <= LONGEST_NAME && !CONTROL.test(name)) return;
  const problem = `'${shown(name)}' has control characters, or more than ${LONGEST_NAME}`;
  fields.wrong(WRONG_VALUE, "name", problem, "Choose another name.");
}
