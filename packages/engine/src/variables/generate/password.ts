import * as v from "valibot";
import { type Generator, readOptions } from "./generator.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
/** Bytes from here on would make the first letters likelier than the others. */
const FAIR = 256 - (256 % ALPHABET.length);
const LONGEST = 4096;

const LENGTH = v.nullish(v.pipe(v.number("must be a number"), v.integer("must be a whole number")));

export const password: Generator = (options, around) => {
  const { length } = readOptions("password", { length: LENGTH }, options, around);
  if ((length ?? 0) < 0) throw around.fail("Failed to generate password, 'length' param cannot be negative");
  if ((length ?? 0) > LONGEST) throw around.fail(`'length' can be ${LONGEST} at most`);
  const wanted = length || 20;
  let text = "";
  while (text.length < wanted) {
    for (const byte of Buffer.from(around.random.hex(wanted), "hex")) {
      if (byte < FAIR && text.length < wanted) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return Promise.resolve(text);
};
