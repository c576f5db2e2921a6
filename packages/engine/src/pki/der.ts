/** DER, the encoding of certificates: what is needed to write one, and to read the parts of one. */

const LONG_FORM = 0x80;

/** Tags of the types that certificates are made of. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectId: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag of a context-specific value. */
export const context = (number: number, constructed = false): number =>
  0x80 | (constructed ? 0x20 : 0) | number;

export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < LONG_FORM) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Buffer.of(tag, LONG_FORM | length.length), length, body]);
}

export const sequence = (...content: readonly Uint8Array[]): Buffer => der(TAG.sequence, ...content);

/** A bit string of whole bytes, unless `unused` bits of the last one do not count. */
export const bitString = (bytes: Uint8Array, unused = 0): Buffer =>
  der(TAG.bitString, Buffer.of(unused), bytes);

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(TAG.objectId, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f));
  return digits;
}

const PRINTABLE = /^[A-Za-z0-9 '()+,./:=?-]*$/;

export const text = (value: string): Buffer =>
  der(PRINTABLE.test(value) ? TAG.printableString : TAG.utf8String, Buffer.from(value));

/** Whole seconds; certificates write years from 2050 on in another form. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  return new Date(ms).getUTCFullYear() < 2050
    ? der(TAG.utcTime, Buffer.from(digits.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(digits));
}

/** The values inside of a value, each as it is encoded. The certificate was parsed before: its lengths are right. */
export function partsOf(value: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = headerOf(value); at < value.length; ) {
    const one = value.subarray(at);
    const part = one.subarray(0, headerOf(one) + lengthOf(one));
    parts.push(part);
    at += part.length;
  }
  return parts;
}

/** The value without tag and length. */
export const contentOf = (value: Buffer): Buffer => value.subarray(headerOf(value));

const headerOf = (value: Buffer): number => {
  const length = value[1] ?? 0;
  return length < LONG_FORM ? 2 : 2 + (length & 0x7f);
};

const lengthOf = (value: Buffer): number => {
  const length = value[1] ?? 0;
  return length < LONG_FORM ? length : value.readUIntBE(2, length & 0x7f);
};
