import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface Email {
  readonly to: readonly string[];
  readonly subject: string;
  /** The part that mail programs show. */
  readonly html: string;
}

export interface SmtpReceiver {
  /** host:port */
  readonly address: string;
  readonly mails: readonly Email[];
  stop(): Promise<void>;
}

/** A mail server that takes everything and delivers nothing. */
export async function startSmtpReceiver(): Promise<SmtpReceiver> {
  const mails: Email[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let text = '';
    let to: string[] = [];
    let inData = false;
    const reply = (line: string): void => void socket.write(`${line}\r\n`);
    const command = (line: string): void => {
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'RCPT') to.push(/<(.*)>/.exec(line)?.[1] ?? '');
      if (verb === 'DATA') inData = true;
      if (verb === 'QUIT') return void socket.end('221 bye\r\n');
      reply(verb === 'DATA' ? '354 go on' : '250 ok');
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (;;) {
        const end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n');
        if (end === -1) return;
        const piece = text.slice(0, end);
        text = text.slice(end + (inData ? 5 : 2));
        if (!inData) {
          command(piece);
          continue;
        }
        mails.push(emailOf(piece.replaceAll('\r\n..', '\r\n.'), to));
        to = [];
        inData = false;
        reply('250 taken');
      }
    });
    reply('220 nobody.example');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    address: `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    mails,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function emailOf(raw: string, to: readonly string[]): Email {
  const subject = /^Subject: (.*)$/m.exec(raw)?.[1]?.trim() ?? '';
  const part = /Content-Type: text\/html[^]*?\r\n\r\n([^]*?)\r\n--/.exec(raw)?.[1] ?? '';
  return { to, subject, html: quotedPrintable(part).replaceAll('\r\n', '\n') };
}

const quotedPrintable = (text: string): string =>
  Buffer.from(
    text
      .replaceAll('=\r\n', '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
