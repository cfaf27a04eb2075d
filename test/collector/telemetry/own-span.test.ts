import {
  context,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
  type Link,
} from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { activeSpan } from '../../../collector/telemetry/own-span.ts';

const OWN = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) };
const ORDER = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };

describe("the collector's own span", () => {
  let active: Context;
  let links: Link[];
  beforeEach(() => {
    active = ROOT_CONTEXT;
    links = [];
    const manager: ContextManager = {
      active: () => active,
      with: (_context, run, self, ...args) => run.call(self as ThisParameterType<typeof run>, ...args),
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager);
  });
  afterEach(() => context.disable());

  const start = (traceFlags: number): void => {
    const span = trace.wrapSpanContext({ ...OWN, traceFlags });
    span.addLink = (link) => {
      links.push(link);
      return span;
    };
    active = trace.setSpan(ROOT_CONTEXT, span);
  };

  it('is none where none is under way, and a link then goes nowhere', () => {
    expect(activeSpan.current()).toBeNull();
    activeSpan.link(ORDER);
    expect(links).toEqual([]);
  });

  it('is the active one, which can be linked to an order', () => {
    start(1);
    expect(activeSpan.current()).toEqual(OWN);
    activeSpan.link(ORDER);
    expect(links).toEqual([{ context: { ...ORDER, traceFlags: 1 } }]);
  });

  it('is none where the active one is not sampled: nobody will ever see it', () => {
    start(0);
    expect(activeSpan.current()).toBeNull();
  });
});
