#!/usr/bin/env node
import { conformanceCommand } from "../agent/cli.ts";

const io = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
void conformanceCommand(process.argv.slice(2), process.env.AGENT_MBUS_PASSWORD ?? "", io).then((code) => {
  process.exitCode = code;
});
