import { expect, it } from "vitest";
import { parseXml } from "./xml.ts";

const read = (xml: string) => parseXml(xml, "ec2:DescribeThings");

it("reads elements, lists, entities and CDATA", () => {
  const xml = `<?xml version="1.0"?><!-- of a test --><R xmlns="x"><tagSet><item><key>a &amp; b&#33;</key><value/></item></tagSet>
    <t><![CDATA[<raw>]]></t></R>`;
  expect(read(xml)).toEqual({ tagSet: [{ key: "a & b!", value: "" }], t: "<raw>" });
});

it("reads an empty list as a list", () => {
  const xml = "<R><reservationSet/><volumeSet></volumeSet><blockDeviceMapping/><name/></R>";
  expect(read(xml)).toEqual({ reservationSet: [], volumeSet: [], blockDeviceMapping: [], name: "" });
});

it.each([
  ["<a><b></a>", "an element ends that did not begin"],
  ["<a>", "the document is not whole"],
  ["<a/><b/>", "the document is not whole"],
  ["text", "text outside of the document"],
  ["<a>&evil;</a>", "the entity &evil; is not known"],
  [`${"<a>".repeat(40)}`, "elements are nested too deeply"],
  ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "something other than an element"],
])("rejects %s", (xml, why) => {
  expect(() => read(xml)).toThrow(why);
});
