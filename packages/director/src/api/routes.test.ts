import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Body } from "./route.ts";
import { routes } from "./routes.ts";
import { type Harness, startHarness } from "./testing/harness.ts";

const TYPES: Readonly<Record<Body, string>> = {
  any: "application/json",
  json: "application/json",
  yaml: "text/yaml",
  archive: "application/x-compressed",
};

/** Answers to a request with the body `{}`, a line for each route, in their order. */
const ANSWERS = `GET /director/certificate_expiry 404
GET /director/status 404
GET /tasks 200
GET /tasks/:id 404 10000
GET /tasks/:id/output 404 10000
DELETE /task/:id 404 10000
POST /tasks/cancel 204
GET /stemcells 200
POST /stemcell_uploads 400 40005
POST /stemcells 400 40005
POST /stemcells 302
DELETE /stemcells/:name/:version 302
GET /releases 200
GET /releases/:name 404 30005
POST /releases 400 40005
POST /releases 302
POST /releases/export 400 40005
DELETE /releases/:name 404 30005
GET /jobs 400 40001
POST /packages/matches 400 440001
POST /packages/matches_compiled 400 440001
GET /resources/:id 404 100002
GET /configs 200
GET /configs/:id 404 440012
POST /configs 400 40005
POST /configs/diff 400 440010
DELETE /configs 400 440010
DELETE /configs/:id 404 440012
GET /cloud_configs 200
POST /cloud_configs 201
POST /cloud_configs/diff 200
GET /runtime_configs 200
POST /runtime_configs 201
POST /runtime_configs/diff 200
GET /cpi_configs 200
POST /cpi_configs 400 40001
POST /cpi_configs/diff 200
GET /deployments 200
POST /deployments 400 40001
POST /deployments/:deployment/diff 200
GET /deployment_configs 200
GET /deployed_variables/:name 200
GET /variable 404 100
PUT /variable 400 40005
POST /variable/regeneration 400 40005
GET /deployments/:deployment 404 70000
DELETE /deployments/:deployment 404 70000
GET /deployments/:deployment/instances 404 70000
GET /deployments/:deployment/vms 404 70000
GET /deployments/:deployment/disks 404 70000
GET /deployments/:deployment/errands 404 70000
GET /deployments/:deployment/variables 404 70000
GET /deployments/:deployment/snapshots 404 70000
GET /deployments/:deployment/certificate_expiry 404 70000
GET /deployments/:deployment/jobs/:group/:index 404 70000
GET /deployments/:deployment/jobs/:group/:index/snapshots 404 70000
PUT /deployments/:deployment/jobs/:group 404 70000
PUT /deployments/:deployment/jobs/:group/:index 404 70000
PUT /deployments/:deployment/jobs/:group/:index/resurrection 400 40005
GET /deployments/:deployment/jobs/:group/:index/logs 404 70000
POST /deployments/:deployment/instance_groups/:group/:index/actions/:action 404
PUT /deployments/:deployment/instance_groups/:group/:index/ignore 400 40005
GET /deployments/:deployment/instance_groups/:group/:index/store 400 40001
PUT /deployments/:deployment/instance_groups/:group/:index/store 400 40001
POST /deployments/:deployment/ssh 400 40005
POST /deployments/:deployment/errands/:errand/runs 404 70000
POST /deployments/:deployment/scans 404 70000
GET /deployments/:deployment/problems 404 70000
PUT /deployments/:deployment/problems 404 70000
PUT /deployments/:deployment/scan_and_fix 404 70000
POST /deployments/:deployment/snapshots 404 70000
POST /deployments/:deployment/jobs/:group/:index/snapshots 404 70000
DELETE /deployments/:deployment/snapshots 404 70000
DELETE /deployments/:deployment/snapshots/:cid 404 70000
GET /link_providers 400 190024
GET /link_consumers 400 190024
GET /links 400 190024
POST /links 400 40005
DELETE /links/:id 404 810000
GET /link_address 400 810006
GET /disks 200
GET /orphan_disks 200
DELETE /disks/:cid 302
DELETE /orphan_disks/:cid 302
PUT /disks/:cid/attachments 400 40001
DELETE /vms/:cid 302
GET /orphaned_vms 200
GET /networks 200
DELETE /networks/:name 400 16012
GET /strays 200
DELETE /strays/:id 404 100002
GET /events 200
POST /events 400 40005
GET /events/:id 200
GET /locks 200
GET /health 200
GET /metrics 200
GET /resurrection 200
PUT /resurrection 400 40005
POST /nats/authorities 302
POST /cleanup 400 40005
GET /cleanup/dryrun 200`;

describe("every route", () => {
  let api: Harness;
  beforeAll(async () => {
    api = await startHarness();
  });
  afterAll(() => api.close());

  const guarded = routes.filter(({ permission }) => permission !== "anyone");
  const ask = (route: (typeof routes)[number], user: string | null) =>
    api.ask(route.method, route.path.replaceAll(/:\w+/g, "1"), {
      user,
      ...(route.method === "GET" ? {} : { type: TYPES[route.body], body: "{}" }),
    });

  it("except /info and the files of the console refuses strangers and users without a scope before it does anything", async () => {
    expect(routes.filter(({ permission }) => permission === "anyone").map(({ path }) => path)).toEqual([
      "/info",
      "/console",
      "/console/:file",
    ]);
    for (const route of guarded) {
      const name = `${route.method} ${route.path}`;
      expect((await ask(route, null)).status, name).toBe(401);
      expect((await ask(route, "nobody")).json, name).toMatchObject({ code: 600000 });
    }
    expect(api.queued).toEqual([]);
    expect(api.errors).toEqual([]);
  });

  it("answers an administrator, who asks an empty Director for thing 1, with its status and upstream's number", async () => {
    const answers: string[] = [];
    for (const route of guarded) {
      const answer = await ask(route, "admin");
      const { status, body } = answer;
      const refusal =
        status >= 400 && body.startsWith("{") ? (answer.json as { readonly code: number }) : undefined;
      if (refusal !== undefined)
        expect(refusal, route.path).toEqual({ code: expect.any(Number), description: expect.any(String) });
      answers.push(
        `${route.method} ${route.path} ${status}${refusal === undefined ? "" : ` ${refusal.code}`}`,
      );
    }
    expect(answers).toEqual(ANSWERS.split("\n"));
    expect(api.errors).toEqual([]);
  });
});
