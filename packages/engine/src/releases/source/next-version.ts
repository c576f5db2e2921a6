import { compareVersions, isVersion } from "../../manifest/versions.ts";

const NUMBER = /^(?:0|[1-9][0-9]{0,14})$/;

/** The greatest of the versions of an index; undefined when there is none. */
export const lastVersion = (versions: readonly string[]): string | undefined =>
  versions.filter(isVersion).sort(compareVersions).at(-1);

/** `0+dev.1` first, then one more after the plus. Undefined when the last version ends with no number. */
export function nextDevVersion(
  dev: readonly string[],
  final: readonly string[],
  timestamp?: number,
): string | undefined {
  const [lastDev, lastFinal] = [lastVersion(dev), lastVersion(final)];
  const last =
    lastFinal !== undefined && (lastDev === undefined || compareVersions(lastFinal, lastDev) > 0)
      ? lastFinal
      : (lastDev ?? "0+dev.0");
  const plus = last.indexOf("+");
  const base = plus < 0 ? last : last.slice(0, plus);
  const post = plus < 0 ? "dev.1" : oneMore(last.slice(plus + 1));
  if (post === undefined) return undefined;
  return `${base}+${timestamp === undefined ? post : `dev.${timestamp}`}`;
}

/** `1` first, then one more; what followed a minus or plus is gone. */
export function nextFinalVersion(final: readonly string[]): string | undefined {
  const last = lastVersion(final);
  if (last === undefined) return "1";
  return oneMore(last.slice(0, last.search(/[-+]|$/)));
}

function oneMore(segment: string): string | undefined {
  const dot = segment.lastIndexOf(".");
  const number = segment.slice(dot + 1);
  return NUMBER.test(number) ? `${segment.slice(0, dot + 1)}${Number(number) + 1}` : undefined;
}
