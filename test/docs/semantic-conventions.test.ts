import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { semanticConventionsYaml } from '../../docs/generator/semantic-conventions-yaml.ts';
import { SAMPLING_RATE, SPAN_ATTRIBUTES } from '../../schemas/span-contract.ts';

interface Attribute {
  readonly id?: string;
  readonly ref?: string;
  readonly type?: string | { readonly members: readonly { readonly id: string; readonly value: string }[] };
  readonly brief?: string;
  readonly stability?: string;
  readonly examples?: readonly unknown[];
  readonly requirement_level?: unknown;
}
interface Group {
  readonly id: string;
  readonly type: string;
  readonly brief: string;
  readonly stability?: string;
  readonly name?: string;
  readonly span_kind?: string;
  readonly events?: readonly string[];
  readonly attributes?: readonly Attribute[];
}

const { groups } = parse(semanticConventionsYaml()) as { groups: readonly Group[] };
const ofType = (type: string): Group[] => groups.filter((group) => group.type === type);
const defined = ofType('attribute_group').flatMap(({ attributes = [] }) => attributes);

/** https://github.com/open-telemetry/weaver/blob/main/schemas/semconv-syntax.md */
describe("the convention in OpenTelemetry's language", () => {
  it('defines every attribute of our own once, with what the language requires', () => {
    const own = SPAN_ATTRIBUTES.map(({ name }) => name).filter((name) => name.startsWith('payment.'));
    expect(defined.map(({ id }) => id)).toEqual([...own, SAMPLING_RATE.name]);
    for (const { type, brief, stability, examples } of defined) {
      expect(brief).toMatch(/\S/);
      expect(stability).toBe('development');
      if (typeof type === 'object') {
        const ids = type.members.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
      } else {
        expect(['string', 'int', 'double', 'boolean']).toContain(type);
        const named = type === 'int' || type === 'double' ? 'number' : type;
        expect(examples?.map((example) => typeof example)).toEqual(examples?.map(() => named));
        expect(examples).not.toEqual([]);
      }
    }
  });

  it('has a span of each kind, whose attributes and events exist', () => {
    const ids = new Set([...defined.map(({ id }) => id), 'error.type']);
    const events = new Set(ofType('event').map(({ id }) => id));
    expect(ofType('span').map(({ id }) => id)).toEqual(['span.payment.item', 'span.payment.order']);
    for (const { span_kind, stability, attributes = [], events: named = [] } of ofType('span')) {
      expect({ span_kind, stability }).toEqual({ span_kind: 'internal', stability: 'development' });
      expect(attributes.filter(({ ref }) => !ids.has(ref))).toEqual([]);
      expect(named.filter((event) => !events.has(event))).toEqual([]);
      for (const { requirement_level } of attributes)
        if (requirement_level !== 'required')
          expect(requirement_level).toEqual({
            conditionally_required: expect.stringMatching(/^When .+\.$/) as string,
          });
    }
  });

  it('gives every group an id and a brief of its own, and every event its name', () => {
    expect(new Set(groups.map(({ id }) => id)).size).toBe(groups.length);
    expect(groups.filter(({ brief }) => !/\S/.test(brief))).toEqual([]);
    for (const { id, name } of ofType('event')) expect(id).toBe(`event.${name}`);
  });
});
