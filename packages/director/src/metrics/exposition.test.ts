import { expect, it } from "vitest";
import { Exposition, Histogram } from "./exposition.ts";
import { readPrometheus } from "./testing/prometheus.ts";

it("is read by a strict reader, whatever stands in labels", () => {
  const told = new Exposition();
  told.add("a_total", "counter", "Some.", [[{ name: 'x "y"\\z\n' }, 3]]);
  const times = new Histogram();
  for (const seconds of [0.001, 0.3, 7, 5000]) times.observe(seconds);
  told.addHistogram("b_seconds", "Times.", [
    [{ route: "/a" }, times],
    [{ route: "/b" }, new Histogram()],
  ]);
  told.add("nothing", "gauge", "None.", []);
  const families = readPrometheus(told.text);
  expect([...families.keys()]).toEqual(["a_total", "b_seconds"]);
  expect(families.get("b_seconds")?.samples.get('b_seconds_bucket{route="/a",le="15"}')).toBe(3);
  expect(families.get("b_seconds")?.samples.get('b_seconds_count{route="/a"}')).toBe(4);
});

it.each([
  ["a sample without a type", "a 1\n"],
  ["another family's sample", "# HELP a x\n# TYPE a gauge\nb 1\n"],
  ["a family twice", "# HELP a x\n# TYPE a gauge\na 1\n# HELP b x\n# TYPE b gauge\nb 1\n# HELP a x\n"],
  ["a sample twice", "# HELP a x\n# TYPE a gauge\na 1\na 2\n"],
  ["no number", "# HELP a x\n# TYPE a gauge\na undefined\n"],
  ["a quote in a label", '# HELP a x\n# TYPE a gauge\na{b="c"d"} 1\n'],
  [
    "buckets that shrink",
    '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
  ],
  ["no end of a line", "# HELP a x\n# TYPE a gauge\na 1"],
])("the reader of the tests refuses %s", (_, text) => expect(() => readPrometheus(text)).toThrow());
