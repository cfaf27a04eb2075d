import type { GatewayConfig } from '../../schemas/config.ts';
import { Secret } from '../../schemas/secret.ts';
import type { LoadedConfig } from '../../schemas/config.ts';

export interface Renewed {
  /** Settings whose secrets are others now, by their path; a gateway's by its name. */
  readonly renewed: readonly string[];
  /** Was anything changed that holds from the next start only? */
  readonly needsRestart: boolean;
}

/**
 * Puts the secrets of a configuration that was read again into the one that is in use: tokens and passwords
 * into the objects that everybody holds, lists of keys and path secrets into `gateways`. Everything else
 * stays as it was.
 */
export function renewSecrets(
  current: LoadedConfig,
  fresh: LoadedConfig,
  gateways: Map<string, GatewayConfig>,
): Renewed {
  const renewed = renewWithin({ ...current, gateways: [] }, { ...fresh, gateways: [] }, '');
  for (const { name, token, callbackKeys, callbackPathSecret } of fresh.gateways) {
    const gateway = gateways.get(name);
    if (gateway === undefined) continue;
    renewed.push(...renewWithin(gateway.token, token, `gateways.${name}.token`));
    if (isOther(gateway.callbackKeys, callbackKeys)) renewed.push(`gateways.${name}.callbackKeys`);
    if (isOther([gateway.callbackPathSecret], [callbackPathSecret]))
      renewed.push(`gateways.${name}.callbackPathSecret`);
    const { callbackPathSecret: _before, ...others } = gateway;
    const now = callbackPathSecret === undefined ? {} : { callbackPathSecret };
    gateways.set(name, Object.freeze({ ...others, callbackKeys, ...now }));
  }
  return { renewed, needsRestart: withoutSecrets(current) !== withoutSecrets(fresh) };
}

function renewWithin(current: unknown, fresh: unknown, path: string): string[] {
  if (current instanceof Secret && fresh instanceof Secret) {
    if (!isOther([current], [fresh])) return [];
    current.renew(fresh);
    return [path];
  }
  if (typeof current !== 'object' || current === null || typeof fresh !== 'object' || fresh === null)
    return [];
  return Object.entries(current).flatMap(([key, value]) =>
    renewWithin(value, (fresh as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`),
  );
}

function isOther(before: readonly (Secret | undefined)[], now: readonly (Secret | undefined)[]): boolean {
  return before.length !== now.length || before.some((secret, i) => secret?.reveal() !== now[i]?.reveal());
}

function withoutSecrets(config: LoadedConfig): string {
  return JSON.stringify({
    ...config,
    gateways: config.gateways.map((gateway) => ({
      ...gateway,
      callbackKeys: [],
      callbackPathSecret: undefined,
    })),
  });
}
