import { createHash } from "node:crypto";

const ROUNDS = 5000;
const LETTERS = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BYTES = 64;

/** `$6$` of crypt(3), as Ulrich Drepper specified it. The salt is 1 to 16 letters. */
export function sha512Crypt(password: string, salt: string): string {
  const key = Buffer.from(password);
  const grain = Buffer.from(salt);
  const digest = (...pieces: readonly Buffer[]) => {
    const hash = createHash("sha512");
    for (const piece of pieces) hash.update(piece);
    return hash.digest();
  };
  const other = digest(key, grain, key);
  const first = [key, grain, filled(other, key.length)];
  for (let bits = key.length; bits > 0; bits >>= 1) first.push((bits & 1) === 1 ? other : key);
  let result = digest(...first);

  const keyed = filled(digest(...Array.from(key, () => key)), key.length);
  const salted = filled(digest(...Array.from({ length: 16 + (result[0] ?? 0) }, () => grain)), grain.length);
  for (let round = 0; round < ROUNDS; round++) {
    const odd = round % 2 === 1;
    result = digest(
      odd ? keyed : result,
      ...(round % 3 === 0 ? [] : [salted]),
      ...(round % 7 === 0 ? [] : [keyed]),
      odd ? result : keyed,
    );
  }
  return `$6$${salt}$${letters(result)}`;
}

/** Its beginning, or it over and over, until it is as long. */
const filled = (bytes: Buffer, length: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, at) => bytes[at % BYTES] ?? 0));

/** Three bytes to four letters, in the order that crypt mixes them. */
function letters(bytes: Buffer): string {
  let text = "";
  const put = (high: number, middle: number, low: number, count: number) => {
    let number = (high << 16) | (middle << 8) | low;
    for (let at = 0; at < count; at++, number >>= 6) text += LETTERS[number & 0x3f];
  };
  const at = (index: number) => bytes[index] ?? 0;
  let [a, b, c] = [0, 21, 42];
  for (let turn = 0; turn < 21; turn++) {
    put(at(a), at(b), at(c), 4);
    [a, b, c] = [b + 1, c + 1, a + 1];
  }
  put(0, 0, at(63), 2);
  return text;
}
