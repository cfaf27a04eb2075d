import { z } from 'zod';
import { maskCards } from './redact.ts';
import type { EpochMicros, Rows } from './rows.ts';

/** Letters, digits, marks and blanks of any script; a joiner, since some emoji are made of several. */
const LINE = /^(?:[^\p{C}\p{Zl}\p{Zp}]|\u{200d})*$/u;
const LINES = /^(?:[^\p{C}\p{Zl}\p{Zp}]|[\n\r\t\u{200d}])*$/u;

const line = (max: number) =>
  z.string().max(max).regex(LINE, 'printable text in one line').transform(maskCards);

/**
 * The body of `POST /annotations`. People write it, so there is nothing but printable text to ask for; card
 * numbers are masked. Who shows it shows it as text: markup means nothing.
 */
export const annotationSchema = z
  .object({
    title: z.string().min(1).pipe(line(200)),
    text: z.string().max(2000).regex(LINES, 'printable text').transform(maskCards).default(''),
    gateway: z.string().max(64).default(''),
    tags: z.array(line(64)).max(20).default([]),
    startsAt: z.iso.datetime({ offset: true }).optional(),
    endsAt: z.iso.datetime({ offset: true }).optional(),
  })
  .refine(
    ({ startsAt, endsAt }) =>
      endsAt === undefined || startsAt === undefined || Date.parse(endsAt) >= Date.parse(startsAt),
    {
      path: ['endsAt'],
      message: 'a time that is not before startsAt',
    },
  );

/** The schema for an installation: `gateway` names one of its own, or is empty for all. */
export const annotationOf = (gateways: readonly string[]) =>
  annotationSchema.refine(({ gateway }) => gateway === '' || gateways.includes(gateway), {
    path: ['gateway'],
    message: `one of ${gateways.join(', ')}, or nothing for all`,
  });

/** @param now the start of an annotation that names none, in microseconds */
export function annotationRow(
  { title, text, gateway, tags, startsAt, endsAt }: z.output<typeof annotationSchema>,
  annotationId: string,
  now: EpochMicros,
): Rows['annotations'] {
  return {
    annotation_id: annotationId,
    starts_at: startsAt === undefined ? now : Date.parse(startsAt) * 1000,
    ends_at: endsAt === undefined ? null : Date.parse(endsAt) * 1000,
    gateway,
    title,
    text,
    tags,
  };
}
