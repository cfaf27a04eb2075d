import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import { SERVICE_NAMESPACE } from '../../schemas/span-contract.ts';

export interface ResourceOptions {
  /** Version of gatewatch. */
  version: string;
  /** Becomes `service.instance.id`. */
  collectorId: string;
}

/**
 * Who sends this telemetry. `OTEL_RESOURCE_ATTRIBUTES` and then `OTEL_SERVICE_NAME` override what is set
 * here.
 */
export function createResource({ version, collectorId }: ResourceOptions): Resource {
  const own = resourceFromAttributes({
    'service.name': 'gatewatch',
    'service.version': version,
    'service.instance.id': collectorId,
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

/**
 * The gateway is the service: payment spans are about its operations. `OTEL_RESOURCE_ATTRIBUTES` adds to it,
 * e.g. the environment; the two names are the contract's.
 */
export function createGatewayResource(gateway: string): Resource {
  return detectResources({ detectors: [envDetector] }).merge(
    resourceFromAttributes({ 'service.name': gateway, 'service.namespace': SERVICE_NAMESPACE }),
  );
}
