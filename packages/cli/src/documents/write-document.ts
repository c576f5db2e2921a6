import { escaped, yamlOptions } from "@slipway/engine/documents/yaml";
import { isObject } from "@slipway/protocol/schema/json";
import { Document, isScalar, type Scalar, visit } from "yaml";

/**
 * YAML for people that Go, Ruby and we read back as the same value. The same document gives the same text, whatever the
 * order of its keys: they are sorted as the `bosh` CLI sorts them.
 */
export function writeDocument(value: unknown): string {
  const document = new Document(sorted(value), { ...yamlOptions, aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (place, node) => {
      if (typeof node.value === "string") node.type = styleOf(node.value, place === "key");
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && typeof key.value === "string") key.type = styleOf(key.value, true);
    },
  });
  return escaped(document.toString({ indentSeq: false, lineWidth: 0, blockQuote: "literal" }));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  // A Map, because an object puts keys that are whole numbers first.
  return new Map(
    Object.keys(value)
      .sort(inOrder)
      .map((key) => [key, sorted(value[key])]),
  );
}

const WORD = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
/** Neither a number, a date, a time nor a symbol to any reader. */
const PLAIN_START = /^(?:[\p{L}_/(]|[0-9][0-9.]*[^0-9a-fox_,.:+\-tz ]|\d+\.\d+\.\d[.\d]*$)/iu;
const PRINTABLE =
  /^[\t\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;

function styleOf(text: string, key: boolean): Scalar.Type {
  if (!PRINTABLE.test(text)) return "QUOTE_DOUBLE";
  if (text.includes("\n"))
    return key || /^\s|^\n*$|[ \t]\n|[ \t]$/.test(text) ? "QUOTE_DOUBLE" : "BLOCK_LITERAL";
  return PLAIN_START.test(text) && !WORD.test(text) ? "PLAIN" : "QUOTE_DOUBLE";
}

/** Numbers inside names by their size; what is no letter before letters. */
function inOrder(a: string, b: string): number {
  const [left, right] = [pieces(a), pieces(b)];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [one = "", other = ""] = [left[i], right[i]];
    if (one === other) continue;
    if (isDigits(one) && isDigits(other)) {
      const difference = BigInt(one) - BigInt(other);
      if (difference !== 0n) return difference < 0n ? -1 : 1;
      return one.length - other.length;
    }
    const [l, m] = [isLetter(one), isLetter(other)];
    if (l !== m) return l ? 1 : -1;
    return one < other ? -1 : 1;
  }
  return left.length - right.length;
}

const pieces = (text: string): readonly string[] => text.match(/[0-9]+|[^0-9]/gu) ?? [];
const isDigits = (text: string): boolean => /^[0-9]/.test(text);
const isLetter = (text: string): boolean => /^\p{L}/u.test(text);
