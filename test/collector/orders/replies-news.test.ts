import { describe, expect, it } from 'vitest';
import { callback } from '../../support/pipeline.ts';
import { ID, MINUTE, watching } from './watching.ts';

const POLICY = { delaysS: [60], maxDelayS: 60, rereadsS: [60, 600] };

describe('what a status request found', () => {
  it('is noted for each: another status, new items, other facts, or nothing', async () => {
    const { order, clock, sink, receive } = await watching({}, POLICY);
    const news = () => sink.rows('polls').map((poll) => poll.news);
    expect(news()).toEqual(['status']);

    await clock.advance(MINUTE);
    order.history.push([50, '2.1.1.00']);
    await clock.advance(MINUTE);
    order.amount = 90;
    await clock.advance(MINUTE);
    order.orderStatus = 'Success';
    order.history.push([170, '4.1.3.00']);
    await receive(callback({ externalId: ID, status: 'Success' }));
    await clock.advance(2_000);
    order.history.push([190, '6.1.1.00']);
    await clock.advance(20 * MINUTE);
    expect(news()).toEqual(['status', 'nothing', 'items', 'facts', 'status', 'items', 'nothing']);
    const causes = sink.rows('polls').map(({ cause }) => cause);
    expect(causes.join(' ')).toBe('watch schedule schedule schedule callback reread reread');
  });

  it('counts a refused item once', async () => {
    const { order, clock, sink } = await watching({}, POLICY);
    order.history.push([400 * 86_400, '2.1.1.00']);
    await clock.advance(2 * MINUTE);
    expect(sink.rows('polls').map(({ news }) => news)).toEqual(['status', 'items', 'nothing']);
    expect(sink.rows('rejects')).toHaveLength(1);
  });

  it('is nothing where there is no reply', async () => {
    const { answers, clock, sink } = await watching({}, POLICY);
    answers.set(ID, { httpStatus: null, outcome: 'unknown', errorType: 'timeout', body: null });
    await clock.advance(MINUTE);
    expect(sink.rows('polls').at(-1)).toMatchObject({ outcome: 'unknown', news: 'nothing' });
  });

  it('takes no status for new because the collector was restarted', async () => {
    const { clock, sink, restart } = await watching({}, POLICY);
    await restart();
    await clock.advance(2 * MINUTE);
    expect(sink.rows('polls').map(({ news }) => news)).toEqual(['status', 'nothing', 'nothing']);
  });
});
