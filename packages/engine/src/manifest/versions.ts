/**
 * Semi-semantic versions of stemcells and releases: `release[-pre][+post]`. Not semver: `2+dev.1` is above `2`, text is
 * above numbers, missing components are 0.
 */

interface Version {
  readonly release: readonly string[];
  readonly pre: readonly string[] | undefined;
  readonly post: readonly string[] | undefined;
}

const GRAMMAR = /^([0-9A-Za-z_.]+)(?:-([0-9A-Za-z_.-]+))?(?:\+([0-9A-Za-z_.-]+))?$/;
const NUMBER = /^(?:0|[1-9][0-9]*)$/;

function parse(text: string): Version | undefined {
  const found = GRAMMAR.exec(text);
  if (found === null) return undefined;
  return {
    release: (found[1] ?? "").split("."),
    pre: found[2]?.split("."),
    post: found[3]?.split("."),
  };
}

export const isVersion = (text: string): boolean => GRAMMAR.test(text);

/** Below 0 when `a` is older. What is no version is older than any that is. */
export function compareVersions(a: string, b: string): number {
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) {
    if (left === right) return compareText(a, b);
    return left === undefined ? -1 : 1;
  }
  return (
    compareSegments(left.release, right.release) ||
    // Without a pre-release is above with one; without a post-release is below.
    compareOptional(left.pre, right.pre, 1) ||
    compareOptional(left.post, right.post, -1)
  );
}

/** Stemcells separate with `_` too. */
export const compareStemcellVersions = (a: string, b: string): number =>
  compareVersions(a.replaceAll("_", "."), b.replaceAll("_", "."));

function compareOptional(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
  without: 1 | -1,
): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? without : -without;
  return compareSegments(a, b);
}

function compareSegments(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = compareComponents(a[i] ?? "0", b[i] ?? "0");
    if (order !== 0) return order;
  }
  return 0;
}

function compareComponents(a: string, b: string): number {
  const numeric = NUMBER.test(a);
  if (numeric !== NUMBER.test(b)) return numeric ? -1 : 1;
  // Of equal length, digits compare as text: no number is too long.
  return numeric && a.length !== b.length ? a.length - b.length : compareText(a, b);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** `latest` and `1.latest` choose among versions; anything else means itself. */
export const isRelative = (version: string): boolean => version === "latest" || version.endsWith(".latest");

/** The versions a relative one chooses among: for `1.latest` those that are `1` or go on with `.`, `-` or `+`. */
export function candidates(version: string, all: readonly string[]): readonly string[] {
  const known = all.filter((one) => isVersion(one));
  if (version === "latest") return known;
  const prefix = version.slice(0, -".latest".length);
  return known.filter((one) => one.startsWith(prefix) && /^(?:[.\-+]|$)/.test(one.slice(prefix.length)));
}

/** Stemcells of a line agree in the first part of their version: what is compiled for one runs on the others. */
export const sameLine = (a: string, b: string): boolean => line(a) === line(b);

const line = (version: string): string | undefined => version.split(/[._]/, 1)[0];
