import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { jobsStage, shopRelease, web } from "./testing/jobs-stage.ts";

sampleTests(1 / 4);

const { stage, run, upload, task, converges } = jobsStage();

/** The release with a schema for the job `web`. */
const withSchema = (version: string, schema: object) => {
  const release = shopRelease({ version });
  const { web: job, ...others } = release.jobs;
  if (job === undefined) throw new Error("there is no job web");
  const text = JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema });
  return { ...release, jobs: { ...others, web: { ...job, schema: text } } };
};
const deploy = (properties?: Parameters<typeof web>[0]) =>
  task([{ name: "web", instances: 2, jobs: [web(properties)] }]);

describe("a job with a properties_schema.json", () => {
  it("is deployed with valid properties; invalid ones are all reported without values, and nothing changes", async () => {
    const properties = { port: { type: "integer", maximum: 65535 }, password: { maxLength: 3 } };
    await upload(withSchema("2", { properties }));
    await converges(deploy({ port: 80, password: "abc" }));
    const { state, message, changing } = await run(deploy({ port: "hunter1", password: "hunter2" }));
    expect([state, changing]).toEqual(["error", []]);
    expect(message).toContain(
      [
        "Unable to render instance groups for deployment. Errors are:",
        "  - Unable to render jobs for instance group 'web'. Errors are:",
        "    - Error validating properties for web",
        "      - string length at `/password` is greater than: 3",
        "      - value at `/port` is not an integer",
        "(",
      ].join("\n"),
    );
    expect(message).not.toContain("hunter");
    expect(stage.bench.world.vms.size).toBe(2);
  });

  it("sees values of variables, and defaults", async () => {
    await upload(withSchema("2", { properties: { password: { minLength: 20 } } }));
    const groups = [{ name: "web", instances: 1, jobs: [web({ port: 80, password: "((kept))" })] }];
    await converges(task(groups, {}, { variables: true }));
    const { message } = await run(deploy({ port: 80 }));
    expect(message).toContain("string length at `/password` is less than: 20");
  });

  it("is refused in a deploy if its schema is of another draft", async () => {
    await upload(withSchema("2", { $schema: "http://json-schema.org/draft-07/schema#" }));
    const { message } = await run(deploy());
    expect(message).toContain(
      "Only https://json-schema.org/draft/2020-12/schema schema is currently supported",
    );
  });
});
