import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { livePage, RULE } from './page-story.ts';

/**
 * Draws the e-mail of a real page as a telephone shows it: `node test/alerts/page-picture.ts`. Needs
 * chromium.
 */
const PICTURE = fileURLToPath(new URL('../../docs/images/page.png', import.meta.url));
const { mails } = await livePage();
const mail = mails.find(({ html }) => html.includes(RULE));
if (mail === undefined) throw new Error('nobody was mailed');
const folder = mkdtempSync(join(tmpdir(), 'gatewatch-picture-'));
writeFileSync(join(folder, 'page.html'), mail.html);
execFileSync(
  'chromium',
  [
    '--headless',
    '--no-sandbox',
    '--hide-scrollbars',
    '--force-device-scale-factor=2',
    `--window-size=${process.argv[2] ?? '640,1000'}`,
    `--screenshot=${PICTURE}`,
    `file://${join(folder, 'page.html')}`,
  ],
  { stdio: 'ignore' },
);
rmSync(folder, { recursive: true });
console.log(mail.subject);
