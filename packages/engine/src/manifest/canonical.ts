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
