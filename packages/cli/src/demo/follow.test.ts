import { expect, it } from "vitest";
import { stageOf } from "./follow.ts";

it.each([
  [
    '{"time":1,"stage":"Preparing deployment","task":"Preparing deployment","state":"started"}',
    "preparing deployment",
  ],
  [
    '{"stage":"Updating instance","task":"db/1 (0)","state":"in_progress","data":{"status":"creating disk"}}',
    "creating disk",
  ],
  ['{"time":1,"type":"warning","message":"interrupted"}', undefined],
  ["half a li", undefined],
  ["", undefined],
])("of the event %s one reads %s", (line, words) => {
  expect(stageOf(line)).toBe(words);
});
