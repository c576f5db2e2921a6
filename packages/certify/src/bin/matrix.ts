#!/usr/bin/env node
import { join } from "node:path";
import { matrixCommand } from "../matrix/cli.ts";

// The bundle lies in packages/certify/dist.
const tinyCpi = join(__dirname, "../../../examples/tiny-cpi/dist/cpi.cjs");
const io = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
void matrixCommand(process.argv.slice(2), tinyCpi, io).then((code) => {
  process.exitCode = code;
});
