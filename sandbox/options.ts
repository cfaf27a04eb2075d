import { createHash } from 'node:crypto';
import { CALLBACK_TYPES, type CallbackType } from '../schemas/gateway/callback.ts';
import { Secret } from '../schemas/secret.ts';
import { systemClock, type Clock } from './clock.ts';
import { DEFAULT_MIX, type ChannelMix } from './life.ts';
import type { IncidentName } from './scenarios.ts';

/** One bearer token and what it may do (sections 4 and 5: "depends on endpoint settings"). */
export interface MerchantEndpoint {
  readonly name: string;
  readonly token: Secret;
  /** What a create request at {secure_url} makes. Null: 403. */
  readonly secure: 'acquiring' | 'p2p' | null;
  /** May use the token method at {token_url}. Otherwise 403. */
  readonly tokenMethod: boolean;
  /** Holds PCI DSS: may send card details, and use {payform_url}. Otherwise 403. */
  readonly pci: boolean;
  /** May read statuses. All endpoints belong to one merchant and read all its orders. Otherwise 403. */
  readonly status: boolean;
  /** Addresses that may call. @default any */
  readonly allowedIps?: readonly string[];
  /** An amount above this is answered with "Limit was reached". */
  readonly maxAmount: number;
  /** Which of the five types the merchant asked for (section 6.2). */
  readonly callbackTypes: readonly CallbackType[];
  /** Digits after the second in history times: some gateways send milliseconds, some microseconds. */
  readonly timeDigits: 3 | 6;
}

export interface SandboxOptions {
  /** Equal seeds give equal orders, ids, amounts, histories and relative delays. @default '1' */
  readonly seed?: string | number;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** 0 takes a free one. @default 0 */
  readonly port?: number;
  /** Orders the sandbox creates by itself, once started. @default 0 */
  readonly ratePerSecond?: number;
  /**
   * Delays inside an order's life are divided by this; time stamps stay those of the wall clock. @default 1
   */
  readonly speed?: number;
  /** @default the system's */
  readonly clock?: Clock;
  /** Bearer token of the default endpoint `main`. @default derived from the seed */
  readonly token?: string;
  /**
   * The merchant's endpoints. @default `main` (acquiring, token, PCI) and `p2p` (token derived from `main`'s)
   */
  readonly endpoints?: readonly MerchantEndpoint[];
  readonly callbacks?: {
    /**
     * The static callback address (section 6.1). @default none: only orders with a `callbackUrl` call back
     */
    readonly url?: string;
    /** The merchant's private key (section 6.3). @default derived from the seed */
    readonly key?: string;
    /** Waits before each retry; the gateway's real policy is not shown. @default [500, 2000, 8000, 30000] */
    readonly retryDelaysMs?: readonly number[];
    /** @default 5000 */
    readonly timeoutMs?: number;
    /** Callbacks waiting to be sent; beyond it the oldest are dropped and counted. @default 10000 */
    readonly maxQueued?: number;
  };
  /**
   * Name every new order to this address, as the merchant's own system would: the collector's `POST /orders`.
   */
  readonly watchUrl?: string;
  /** The name that the watch messages give this gateway. @default 'sandbox' */
  readonly gatewayName?: string;
  /** Share of each channel in the sandbox's own traffic. */
  readonly mix?: ChannelMix;
  /** Share of finished orders that get late items. @default 0.35 */
  readonly lateShare?: number;
  /** How long an order is kept after its last item became visible. @default 900000 */
  readonly retentionMs?: number;
  /**
   * Orders in memory; beyond it the oldest settled one goes, and with none settled a create is answered 423.
   * @default 100000
   */
  readonly maxOrders?: number;
  /** Serve /admin to every address. For private networks only. @default false */
  readonly adminRemote?: boolean;
  /** Incidents that begin with `start()`. */
  readonly incidents?: readonly {
    readonly name: IncidentName;
    readonly share: number;
    readonly forSeconds?: number;
  }[];
  /** Receives one line per noteworthy event; never secrets or card data. @default silent */
  readonly log?: (line: string) => void;
}

export interface SandboxConfig {
  readonly seed: string;
  readonly host: string;
  readonly port: number;
  readonly ratePerSecond: number;
  readonly speed: number;
  readonly clock: Clock;
  readonly endpoints: readonly MerchantEndpoint[];
  readonly callbackUrl: string | null;
  readonly callbackKey: Secret;
  readonly retryDelaysMs: readonly number[];
  readonly callbackTimeoutMs: number;
  readonly maxQueued: number;
  readonly watchUrl: string | null;
  readonly gatewayName: string;
  readonly mix: ChannelMix;
  readonly lateShare: number;
  readonly retentionMs: number;
  readonly maxOrders: number;
  readonly adminRemote: boolean;
  readonly incidents: NonNullable<SandboxOptions['incidents']>;
  readonly log: (line: string) => void;
}

/** Fills in the defaults. Throws RangeError for numbers that make no sense. */
export function resolveOptions(options: SandboxOptions): SandboxConfig {
  const seed = String(options.seed ?? '1');
  const token = options.token ?? derived(seed, 'token');
  const config: SandboxConfig = {
    seed,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    ratePerSecond: options.ratePerSecond ?? 0,
    speed: options.speed ?? 1,
    clock: options.clock ?? systemClock,
    endpoints: options.endpoints ?? [mainEndpoint(token), p2pEndpoint(derived(token, 'p2p'))],
    callbackUrl: options.callbacks?.url ?? null,
    callbackKey: new Secret(options.callbacks?.key ?? derived(seed, 'callback key').slice(0, 32)),
    retryDelaysMs: options.callbacks?.retryDelaysMs ?? [500, 2000, 8000, 30_000],
    callbackTimeoutMs: options.callbacks?.timeoutMs ?? 5000,
    maxQueued: options.callbacks?.maxQueued ?? 10_000,
    watchUrl: options.watchUrl ?? null,
    gatewayName: options.gatewayName ?? 'sandbox',
    mix: options.mix ?? DEFAULT_MIX,
    lateShare: options.lateShare ?? 0.35,
    retentionMs: options.retentionMs ?? 900_000,
    maxOrders: options.maxOrders ?? 100_000,
    adminRemote: options.adminRemote ?? false,
    incidents: options.incidents ?? [],
    log: options.log ?? (() => {}),
  };
  if (!(config.speed > 0)) throw new RangeError('speed must be above 0');
  if (!(config.ratePerSecond >= 0)) throw new RangeError('ratePerSecond must not be below 0');
  if (config.endpoints.length === 0) throw new RangeError('endpoints must hold at least one');
  return config;
}

/** Acquiring, the token method and card details, with one bearer token. */
export function mainEndpoint(token: string): MerchantEndpoint {
  return {
    name: 'main',
    token: new Secret(token),
    secure: 'acquiring',
    tokenMethod: true,
    pci: true,
    status: true,
    maxAmount: 500_000,
    callbackTypes: CALLBACK_TYPES,
    timeDigits: 3,
  };
}

/** P2P, without token method and PCI; its history times have microseconds. */
export function p2pEndpoint(token: string): MerchantEndpoint {
  return {
    ...mainEndpoint(token),
    name: 'p2p',
    secure: 'p2p',
    tokenMethod: false,
    pci: false,
    timeDigits: 6,
  };
}

function derived(...parts: readonly string[]): string {
  return createHash('sha256')
    .update(`sandbox|${parts.join('|')}`)
    .digest('hex')
    .slice(0, 40);
}
