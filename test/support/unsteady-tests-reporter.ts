import { appendFileSync } from 'node:fs';
import type { TestCase, TestModule, TestSuite } from 'vitest/node';

/**
 * Notes each test that failed, and each that passed only when it was tried again, in a file: one line a test.
 * CI shows them last, where they are seen.
 */
export class UnsteadyTestsReporter {
  private readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  onTestCaseResult(test: TestCase): void {
    const failed = test.result().state === 'failed';
    if (failed || test.diagnostic()?.flaky === true) {
      this.note(failed ? 'failed' : 'passed on retry', `${test.module.relativeModuleId} > ${test.fullName}`);
    }
  }

  /** A suite whose hooks failed has no failed test. */
  onTestSuiteResult(suite: TestSuite): void {
    if (suite.errors().length > 0)
      this.note('failed', `${suite.module.relativeModuleId} > ${suite.fullName}`);
  }

  /** Nor has a file that could not be loaded. */
  onTestModuleEnd(module: TestModule): void {
    if (module.errors().length > 0) this.note('failed', module.relativeModuleId);
  }

  private note(what: string, test: string): void {
    appendFileSync(this.file, `${what}: ${test}\n`);
  }
}
