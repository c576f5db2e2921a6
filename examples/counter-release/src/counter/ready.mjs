// Ends when the counter answers: whoever was deployed after it can rely on it.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "./client.mjs";

const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const to = { address: config.ip, port: config.port, ca: config.ca };

for (let left = 300; ; left--) {
  try {
    const { status } = await ask(to, "GET", "/count");
    if (status === 200) break;
    throw new Error(`it answers with ${status}`);
  } catch (error) {
    if (left === 0) throw error;
  }
  await pause(100);
}
