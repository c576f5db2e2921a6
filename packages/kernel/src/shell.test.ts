import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { shellQuoted, shellWord } from "./shell.ts";

describe.each([shellQuoted, shellWord])("%o", (quote) => {
  it.each(["plain", "/a/b-c.d", "", "two words", "it's", '$HOME `id` \\ "x"', "a\nb", "~", "a;b", "'"])(
    "a shell reads %j as it is",
    (text) => {
      const read = execFileSync("/bin/sh", ["-c", `printf %s ${quote(text)}`], { encoding: "utf8" });
      expect(read).toBe(text);
    },
  );
});
