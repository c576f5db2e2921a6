import { trimEnd } from "@slipway/kernel/text";

/** One place that packages come from, as a machine's apt knows it. */
export interface AptSource {
  readonly uri: string;
  readonly suite: string;
  readonly components: readonly string[];
  /** A keyring, or a key itself. */
  readonly signedBy: string | undefined;
}

/** The lines of `sources.list` and `*.list`. */
export const parseList = (text: string): readonly AptSource[] =>
  text.split("\n").flatMap((line): AptSource[] => {
    const found = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s+([^#]+)/.exec(line);
    if (found === null) return [];
    const [, options = "", uri = "", suite = "", components = ""] = found;
    const signedBy = /(?:^|\s)signed-by="?([^\s"]+)/i.exec(options)?.[1];
    return [{ uri, suite, components: words(components), signedBy }];
  });

/** The paragraphs of `*.sources`. */
export const parseDeb822 = (text: string): readonly AptSource[] =>
  text
    .replace(/^#.*\n?/gm, "")
    .split(/\n[ \t]*\n/)
    .flatMap((paragraph): AptSource[] => {
      const fields = fieldsOf(paragraph);
      const field = (name: string) => words(fields.get(name) ?? "");
      if (!field("types").includes("deb") || /^(no|false|0)$/i.test(fields.get("enabled") ?? "")) return [];
      const signedBy = fields.get("signed-by");
      return field("uris").flatMap((uri) =>
        field("suites").map((suite) => ({ uri, suite, components: field("components"), signedBy })),
      );
    });

/** A value goes on in lines that begin with a space. */
export function fieldsOf(paragraph: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = "", value = ""] of paragraph.matchAll(/^([^\s:]+):((?:.*)(?:\n[ \t].*)*)/gm))
    fields.set(name.toLowerCase(), value.trim());
  return fields;
}

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

const OFFICIAL = "http://deb.debian.org";

/** Returns a release with its updates and security fixes. */
const partsOf = (suite: string): readonly string[] => [suite, `${suite}-updates`, `${suite}-security`];

/** Debian's own keys come with Debian's packages; what another key signs is another's. */
const isDebian = ({ signedBy }: AptSource): boolean =>
  signedBy === undefined || (/^\/\S*$/.test(signedBy) && signedBy.includes("debian-archive"));

/** Lines for apt of what the machine itself uses for this release of Debian; none where it uses another. */
export function linesOf(suite: string, sources: readonly AptSource[]): readonly string[] {
  const lines = sources
    .filter(isDebian)
    .filter((source) => partsOf(suite).includes(source.suite) && source.components.includes("main"))
    .filter(({ uri }) => !uri.startsWith("cdrom:"))
    .map(({ uri, suite: part, signedBy }) => line(uri, part, signedBy));
  // Updates of a release without the release are no release.
  return lines.some((text) => text.endsWith(` ${suite} main`)) ? [...new Set(lines)] : [];
}

/** One mirror, for those who name it. */
export const mirrorLines = (
  suite: string,
  mirror: string,
  keyring: string | undefined,
): readonly string[] => [line(mirror, suite, keyring)];

/** Returns apt lines of Debian's own mirrors. */
export const officialLines = (suite: string, keyring?: string): readonly string[] =>
  /^(sid|unstable|experimental)$/.test(suite)
    ? [line(`${OFFICIAL}/debian`, suite, keyring)]
    : partsOf(suite).map((part) =>
        line(`${OFFICIAL}/debian${part.endsWith("-security") ? "-security" : ""}`, part, keyring),
      );

const line = (uri: string, suite: string, signedBy: string | undefined): string =>
  `deb ${signedBy === undefined ? "" : `[signed-by="${signedBy}"] `}${trimEnd(uri, "/")} ${suite} main`;
