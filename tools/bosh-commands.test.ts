import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BOSH_COMMANDS } from "./bosh-commands.mjs";

const story = (name: string) => readFileSync(`packages/cli/src/bosh-cli/${name}.test.ts`, "utf8");

describe("docs/bosh-commands.md", () => {
  it.each(BOSH_COMMANDS)("$name is run by the story that is named", ({ name, story: file }) => {
    expect(story(file)).toContain(`"${name}"`);
  });

  it.each(BOSH_COMMANDS.filter(({ verdict }) => verdict !== "works"))("$name: how is said", ({ what }) => {
    expect(what).not.toBe("");
  });
});
