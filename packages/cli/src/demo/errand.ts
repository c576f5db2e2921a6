import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type ErrandLine, errandResult } from "@slipway/protocol/director/errand";
import { check } from "@slipway/protocol/schema/check";
import type { DirectorApi } from "../api/director-api.ts";
import { DEPLOYMENT } from "./documents.ts";
import { PromiseBroken } from "./errors.ts";
import { follow } from "./follow.ts";

export const ERRAND = "smoke";

/** Runs the errand of the release; the last of its lines that says how often it was visited. */
export async function runSmoke(api: DirectorApi, tell: (text: string) => void): Promise<string> {
  const path = `/deployments/${DEPLOYMENT}/errands/${ERRAND}/runs`;
  const task = await api.begin({ method: "POST", path, body: "{}", contentType: "application/json" });
  await follow(api, task, tell);
  const results = (await api.output(task, "result")).split("\n").filter((line) => line !== "");
  const lines = results.map(resultOf);
  const failed = lines.find(({ exit_code }) => exit_code !== 0);
  if (lines.length === 0 || failed !== undefined)
    throw PromiseBroken({
      what: `the errand ${ERRAND} failed: ${failed?.stdout.trim() ?? "it did not run"}`,
    });
  const said = lines.flatMap(({ stdout }) => stdout.split("\n").map((line) => line.trim()));
  return said.find((line) => line.includes("counted"))?.replace(/^ok +/, "") ?? `${said.length} checks`;
}

function resultOf(line: string): ErrandLine {
  const found = check(errandResult, parseStrictJson(line, "the result of the errand"), "result");
  if (!found.ok) throw PromiseBroken({ what: `the errand answered ${found.problems.join("; ")}` });
  return found.value;
}
