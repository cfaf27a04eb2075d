import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The newest Kafka whose broker runs on Java 17 and that kafkajs 2.2.4 can speak to (shown by these tests).
 */
export const KAFKA_VERSION = process.env['GATEWATCH_KAFKA_VERSION'] ?? '4.3.1';

const FETCH_TIMEOUT_MS = 300_000;

/** Where test downloads live: `GATEWATCH_CACHE_DIR`, or `.cache` in the project. */
export function cacheFolder(): string {
  return process.env['GATEWATCH_CACHE_DIR'] ?? path.join(import.meta.dirname, '..', '..', '.cache');
}

/**
 * Fetches Apache Kafka's broker, its tools and their runtime dependencies from Maven Central, once per
 * version. Returns the folder of jars. Several processes may call it at once: each fetches into a folder of
 * its own and the first rename wins. Throws when Maven fails, with Maven's own words.
 */
export async function fetchKafkaJars(version: string = KAFKA_VERSION): Promise<string> {
  const home = path.join(cacheFolder(), 'kafka', version);
  const jars = path.join(home, 'jars');
  if (existsSync(jars)) return jars;
  await mkdir(home, { recursive: true });
  const attempt = await mkdtemp(path.join(home, 'fetch-'));
  try {
    await writeFile(path.join(attempt, 'pom.xml'), pom(version));
    await copyDependencies(attempt);
    await rename(path.join(attempt, 'jars'), jars).catch((error: unknown) => {
      if (!existsSync(jars)) throw error;
    });
  } finally {
    await rm(attempt, { recursive: true, force: true });
  }
  return jars;
}

async function copyDependencies(folder: string): Promise<void> {
  const args = ['-B', '-q', '-f', path.join(folder, 'pom.xml'), 'dependency:copy-dependencies'];
  args.push('-DincludeScope=runtime', `-DoutputDirectory=${path.join(folder, 'jars')}`);
  try {
    await run('mvn', args, { timeout: FETCH_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    const output = (error as { stdout?: string }).stdout ?? '';
    const reason = output.split('\n').find((line) => line.includes('[ERROR]')) ?? String(error);
    throw new Error(`Fetching Apache Kafka with mvn failed: ${reason.slice(0, 400)}`, { cause: error });
  }
}

// kafka-tools brings Kafka's console producer; its own dependencies (Kafka Connect, Jetty) are not needed for
// it.
function pom(version: string): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>gatewatch.test</groupId>
  <artifactId>kafka-broker</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
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
  </dependencies>
</project>
`;
}
