/** A log filter as a regular expression over a relative path: `**` crosses folders, `*` and `?` do not. */
export function globToRegExp(glob: string): RegExp {
  let source = "";
  for (let at = 0; at < glob.length; at++) {
    const rest = glob.slice(at);
    if (rest.startsWith("**/")) {
      source += "(?:[^/]+/)*";
      at += 2;
    } else if (rest.startsWith("**")) {
      source += ".*";
      at += 1;
    } else if (rest.startsWith("*")) source += "[^/]*";
    else if (rest.startsWith("?")) source += "[^/]";
    else source += (glob[at] ?? "").replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  }
  return new RegExp(`^${source}$`);
}
