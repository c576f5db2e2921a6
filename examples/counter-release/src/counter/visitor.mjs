// Visits the counter again and again, and says what it saw.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "./client.mjs";

const say = (text) => process.stdout.write(`${text}\n`);
const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
process.on("SIGTERM", () => process.exit(0));

for (;;) {
  for (const address of config.counters) {
    try {
      const { status, text } = await ask({ ...config, address }, "POST", "/visits", config.password);
      say(`${new Date().toISOString()} ${address}: ${status} ${text.trim()}`);
    } catch (error) {
      // The counter is being updated: next time.
      say(`${new Date().toISOString()} ${address}: ${error.message}`);
    }
  }
  await pause(config.every_seconds * 1000);
}
