import { describe, expect, it } from "vitest";
import { renderingReport } from "./rendering-report.ts";

const failure = (name: string, message: string) => ({ name, line: 7, message });

describe("the report of templates that failed", () => {
  it("nests them by instance group and job, in upstream's words", () => {
    const host = failure("conf/app.yml.erb", `Can't find property '["db.host"]'`);
    expect(
      renderingReport([
        {
          group: "web",
          job: "app",
          failures: [host, { ...failure("bin/run", "undefined method"), line: undefined }],
        },
        { group: "web", job: "log", failures: [host] },
        { group: "db", job: "app", failures: [host] },
      ]),
    ).toBe(`Unable to render instance groups for deployment. Errors are:
  - Unable to render jobs for instance group 'web'. Errors are:
    - Unable to render templates for job 'app'. Errors are:
      - Error filling in template 'conf/app.yml.erb' (line 7: Can't find property '["db.host"]')
      - Error filling in template 'bin/run' (line (unknown): undefined method)
    - Unable to render templates for job 'log'. Errors are:
      - Error filling in template 'conf/app.yml.erb' (line 7: Can't find property '["db.host"]')
  - Unable to render jobs for instance group 'db'. Errors are:
    - Unable to render templates for job 'app'. Errors are:
      - Error filling in template 'conf/app.yml.erb' (line 7: Can't find property '["db.host"]')`);
  });

  it("says the same failure of many instances once", () => {
    const one = { group: "web", job: "app", failures: [failure("a.erb", "x")] };
    expect(renderingReport([one, one, one]).split("\n")).toHaveLength(4);
  });

  it("keeps words of several lines at their place", () =>
    expect(
      renderingReport([{ group: "web", job: "app", failures: [failure("a.erb", "one\ntwo")] }]),
    ).toContain("\n      - Error filling in template 'a.erb' (line 7: one\n      two)"));

  it("names properties that a schema does not allow beside templates that failed", () =>
    expect(
      renderingReport([
        { group: "web", job: "app", properties: ["value at `/port` is not an integer"] },
        { group: "web", job: "log", failures: [failure("a.erb", "x")] },
      ]),
    ).toBe(`Unable to render instance groups for deployment. Errors are:
  - Unable to render jobs for instance group 'web'. Errors are:
    - Error validating properties for app
      - value at \`/port\` is not an integer
    - Unable to render templates for job 'log'. Errors are:
      - Error filling in template 'a.erb' (line 7: x)`));
});
