import { useEffect, useState } from "preact/hooks";

const partsOf = (hash: string): readonly string[] =>
  hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);

/** Returns the text itself if it is no valid encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The place within the page: the parts of the address behind `#`, which the browser never sends. */
export function useRoute(): readonly string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return partsOf(hash);
}

export const hrefOf = (...parts: readonly (string | number)[]): string =>
  `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;

export const goTo = (href: string): void => {
  location.hash = href;
};

/** The number of a task in an address; undefined if it is none. */
export const taskIn = (part: string | undefined): number | undefined =>
  part !== undefined && /^\d{1,15}$/.test(part) ? Number(part) : undefined;
