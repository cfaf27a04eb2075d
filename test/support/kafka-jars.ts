import path from 'node:path';
import { cacheFolder, fetchJars } from './maven-jars.ts';

/**
 * The newest Kafka whose broker runs on Java 17 and that kafkajs 2.2.4 can speak to (shown by these tests).
 */
export const KAFKA_VERSION = process.env['GATEWATCH_KAFKA_VERSION'] ?? '4.3.1';

/** Apache Kafka's broker and its tools. Throws when Maven fails, with Maven's own words. */
export function fetchKafkaJars(version: string = KAFKA_VERSION): Promise<string> {
  const home = path.join(cacheFolder(), 'kafka', version);
  return fetchJars({ what: 'Apache Kafka', home, dependencies: dependencies(version) });
}

// kafka-tools brings Kafka's console producer; its own dependencies (Kafka Connect, Jetty) are not needed for
// it.
const dependencies = (version: string): string => `
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${version}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>${version}</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version>
    </dependency>
  `;
