// The stories of `npm run conformance:agent`: what the real bosh CLI does to our agent, with `create-env` and through our
// Director. They are suites of their own, too (`npm run test:bosh-cli`).
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";

const STORIES = {
  "story create-env": "packages/cli/src/bosh-cli/create-env.test.ts",
  "story director": "packages/cli/src/bosh-cli/agent-story.test.ts",
};

/** Why they cannot be played here; empty where they can. */
function lacks() {
  if ((process.env.SLIPWAY_OTHER_AGENT ?? "") !== "")
    return "the stories have our own agent in their stemcell";
  const has = (program, ...args) => spawnSync(program, args).status === 0;
  if ((process.env.SLIPWAY_BOSH ?? "") === "" && !has("go", "version"))
    return "the bosh CLI is built with Go, which is not here; or set SLIPWAY_BOSH to one";
  return has("ruby", "--version")
    ? ""
    : "bosh create-env renders templates with ruby, which is not installed";
}

/** None where they cannot be played. */
export function stories() {
  const why = lacks();
  if (why !== "") return { why, deeds: {} };
  const play = (file) => () =>
    new Promise((resolve, reject) => {
      const vitest = join("node_modules", ".bin", "vitest");
      const child = spawn(process.execPath, ["tools/bosh-cli.mjs", vitest, "run", file], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (chunk) => {
          said = (said + chunk).slice(-4000);
        });
      child.on("error", reject);
      child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`it failed:\n${said}`))));
    });
  return {
    why,
    deeds: Object.fromEntries(Object.entries(STORIES).map(([name, file]) => [name, play(file)])),
  };
}
