import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { createEnv } from "../../commands/create-env.ts";
import { deleteEnv } from "../../commands/delete-env.ts";
import { homeOf } from "../../home/home.ts";
import { main } from "../../main.ts";

/** `slipway` with the commands of `create-env` alone: what is being written elsewhere cannot break it. */
void main([createEnv, deleteEnv], {
  argv: process.argv.slice(2),
  env: process.env,
  version: "test",
  out: process.stdout,
  err: process.stderr,
  input: undefined,
  clock: systemClock,
  random: systemRandom,
  stop: new AbortController().signal,
  home: homeOf(process.env, process.getuid?.() ?? 1),
  programs: {
    self: [process.execPath, process.argv[1] ?? ""],
    agent: process.env.TEST_AGENT ?? "",
    registry: process.env.TEST_REGISTRY ?? "",
    renderer: process.env.TEST_RENDERER ?? "",
    demo: { release: "", manifest: "" },
  },
}).then((code) => process.exit(code));
