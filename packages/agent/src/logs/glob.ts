type Term = "**/" | "**" | "*" | "?" | (string & {});

/**
 * Returns the test of a log filter on a relative path: `**` crosses folders, `*` and `?` do not. Its time is at most the
 * product of both lengths: a regular expression goes back to every star, so that eight of them would stop the agent for
 * seconds.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const terms: readonly Term[] = glob.match(/\*\*\/|\*\*|\*|\?|./gs) ?? [];
  return (path) => {
    // ends[n]: what was read of the glob matches the first n letters.
    let ends = [true, ...Array.from(path, () => false)];
    for (const term of terms) ends = endsAfter(term, path, ends);
    return ends.at(-1) === true;
  };
}

function endsAfter(term: Term, path: string, before: readonly boolean[]): boolean[] {
  const isWild = term === "*" || term === "**" || term === "**/";
  const ends = [isWild && before[0] === true];
  // Whether a letter was read of a folder that `**/` takes.
  let inFolder = false;
  for (let at = 0; at < path.length; at++) {
    const letter = path[at];
    const isHere = (isWild ? ends : before)[at] === true;
    let follows = isHere && letter === term;
    if (term === "?" || term === "*") follows = isHere && letter !== "/";
    else if (term === "**") follows = isHere;
    else if (term === "**/") {
      follows = inFolder && letter === "/";
      inFolder = letter !== "/" && (inFolder || isHere);
    }
    ends.push(follows || (isWild && before[at + 1] === true));
  }
  return ends;
}
