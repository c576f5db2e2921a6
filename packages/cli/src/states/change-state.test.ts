import { describe, expect, it } from "vitest";
import { requestPath } from "../api/request-path.ts";
import { COMMANDS } from "../commands.ts";
import { parse } from "../parse/parse.ts";
import { type StateAction, stateRequest } from "./change-state.ts";

function request(...argv: readonly string[]) {
  const parsed = parse(argv, COMMANDS, "1", { env: {}, columns: 80, write: () => {} });
  if (parsed.kind !== "run") throw new Error("nothing to run");
  return stateRequest(parsed.command.name as StateAction, "shop", parsed.given);
}

const sent = (...argv: readonly string[]) => {
  const one = request(...argv);
  return `${one.method} ${requestPath(one)}`;
};

describe("a change of state", () => {
  it.each([
    [["start"], "PUT /deployments/shop/jobs/*?state=started"],
    [["stop", "web"], "PUT /deployments/shop/jobs/web?state=stopped"],
    [["stop", "web/0", "--hard"], "PUT /deployments/shop/jobs/web/0?state=detached"],
    [["stop", "web/0", "--soft"], "PUT /deployments/shop/jobs/web/0?state=stopped"],
    [["restart", "web", "--skip-drain"], "PUT /deployments/shop/jobs/web?state=restart&skip_drain=true"],
    [
      ["recreate", "--fix", "--dry-run", "--canaries=1", "--max-in-flight=50%"],
      "PUT /deployments/shop/jobs/*?state=recreate&fix=true&dry_run=true&canaries=1&max_in_flight=50%25",
    ],
    [["start", "web/0", "--no-converge"], "POST /deployments/shop/instance_groups/web/0/actions/start"],
    [
      ["stop", "web/0", "--no-converge", "--hard", "--skip-drain"],
      "POST /deployments/shop/instance_groups/web/0/actions/stop?skip_drain=true&hard=true",
    ],
    [
      ["recreate", "web/0", "--no-converge", "--fix"],
      "POST /deployments/shop/instance_groups/web/0/actions/recreate?ignore_unresponsive_agent=true",
    ],
  ])("%j is sent as upstream sends it", (argv, line) => {
    expect(sent(...argv)).toBe(line);
  });

  it("sends a YAML content type without a body for the whole deployment", () => {
    expect(request("start")).toMatchObject({ contentType: "text/yaml" });
    expect(request("start").body).toBeUndefined();
  });

  it.each([
    [["stop", "--no-converge"], "one instance"],
    [["stop", "web", "--no-converge"], "one instance"],
    [["stop", "web/0", "--no-converge", "--canaries=1"], "--no-converge and --canaries exclude each other"],
    [["recreate", "web/0", "--no-converge", "--dry-run"], "--no-converge and --dry-run exclude each other"],
    [["stop", "--hard", "--soft"], "--hard and --soft"],
    [["start", "web/"], "not an instance"],
    [["start", "/0"], "not an instance"],
    [["start", "a/b/c"], "not an instance"],
  ])("%j is refused before anything is sent", (argv, words) => {
    expect(() => request(...argv)).toThrow(words);
  });
});
