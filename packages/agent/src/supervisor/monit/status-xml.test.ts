import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MonitAnswerInvalid } from "../errors.ts";
import { parseStatus } from "./status-xml.ts";

const service = (name: string, more = "") =>
  `<service name="${name}"><status>0</status><monitor>1</monitor><pendingaction>0</pendingaction>${more}</service>`;
const document = (services: string, members = "<service>web</service>") =>
  `<?xml version="1.0" encoding="ISO-8859-1"?><monit id="x" incarnation="17" version="5.2.5"><services>${services}` +
  `</services><servicegroups><servicegroup name="vcap">${members}</servicegroup></servicegroups></monit>`;

describe("monit's status", () => {
  it("is read as upstream reads it, and only of the group", () => {
    const web = service(
      "web",
      "<status_message>a &lt;b&gt; &#33; <![CDATA[c]]></status_message><uptime>312</uptime><memory><percenttotal>0.5</percenttotal>" +
        "<kilobytetotal>20480</kilobytetotal></memory><cpu><percenttotal>0.1</percenttotal></cpu>",
    );
    expect(parseStatus(document(web + service("system_box")), "vcap")).toEqual({
      incarnation: "17",
      services: [
        {
          name: "web",
          status: 0,
          message: "a <b> ! c",
          monitor: 1,
          pending: false,
          uptime: 312,
          memoryKb: 20480,
          memoryPercent: 0.5,
          cpuPercent: 0.1,
        },
      ],
    });
    expect(parseStatus(document("", ""), "vcap").services).toEqual([]);
  });

  it.each([
    ["", "not whole"],
    ["<html></html>", "a <html> came"],
    ["<monit><services></monit>", "did not begin"],
    [document('<service name="web"><status>x</status></service>'), "has no <status>"],
    ["<monit>&xxe;</monit>", "entity"],
    ['<!DOCTYPE x [<!ENTITY a "b">]><monit/>', "something other"],
    ["<a>".repeat(40), "too deeply"],
  ])("is refused: %s", (xml, why) => {
    expect(() => parseStatus(xml, "vcap")).toThrow(why);
  });

  it("cut or changed anywhere is read or refused, never anything else", () => {
    const whole = document(service("web"));
    fc.assert(
      fc.property(fc.nat(whole.length), fc.string({ maxLength: 5 }), fc.nat(20), (at, put, cut) => {
        try {
          parseStatus(whole.slice(0, at) + put + whole.slice(at + cut), "vcap");
        } catch (error) {
          expect(MonitAnswerInvalid.is(error)).toBe(true);
        }
      }),
      { numRuns: tries(2000) },
    );
  });
});
