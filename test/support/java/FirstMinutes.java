import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What a tool like DBeaver does first, one line for each step. Arguments: address, user, password. */
public class FirstMinutes {
  public static void main(String[] arguments) throws Exception {
    try (Connection connection = DriverManager.getConnection(arguments[0], arguments[1], arguments[2]);
        Statement statement = connection.createStatement()) {
      step("valid", () -> "" + connection.isValid(5));
      DatabaseMetaData about = connection.getMetaData();
      step("product", () -> about.getDatabaseProductName() + " " + about.getDatabaseProductVersion());
      step("major", () -> "" + about.getDatabaseMajorVersion());
      step("schemas", () -> column(about.getSchemas(), "TABLE_SCHEM"));
      step("tables", () -> column(about.getTables(null, "gatewatch", "%", null), "TABLE_NAME"));
      step("columns", () -> column(about.getColumns(null, "gatewatch", "findings", "%"), "COLUMN_NAME"));
      step("keys", () -> column(about.getPrimaryKeys(null, "gatewatch", "orders"), "COLUMN_NAME"));
      step("indexes", () -> column(about.getIndexInfo(null, "gatewatch", "orders", false, true), "INDEX_NAME"));
      step("functions", () -> column(about.getFunctions(null, null, "arrayMa%"), "FUNCTION_NAME"));
      step("types", () -> "" + column(about.getTypeInfo(), "TYPE_NAME").contains("DateTime64"));
      step("select", () -> column(statement.executeQuery("SELECT number AS n FROM numbers(3)"), "n"));
      step("values", () -> column(statement.executeQuery(
          "SELECT (toDateTime64(1.5, 3, 'UTC'), [1, 2], NULL, toDecimal64(1.5, 2), map('a', 1))::String AS v"), "v"));
      step("rows", () -> {
        ResultSet rows = statement.executeQuery("SELECT number, repeat(toString(number), 20) FROM numbers(100000)");
        long sum = 0;
        while (rows.next()) sum += rows.getLong(1) + rows.getString(2).length();
        return "" + sum;
      });
      step("view", () -> column(statement.executeQuery("SELECT gateway FROM gatewatch.annotations"), "gateway"));
      step("none", () -> column(statement.executeQuery("SELECT 1 AS n WHERE 0"), "n"));
      step("show", () -> column(statement.executeQuery("SHOW TABLES FROM gatewatch LIKE 'find%'"), "name"));
      step("limited", () -> {
        statement.setMaxRows(7);
        statement.executeQuery("SELECT 1");
        statement.setMaxRows(0);
        return column(statement.executeQuery("SELECT 2 AS n"), "n");
      });
      step("wrong", () -> refusal(() -> statement.executeQuery("SELECT nosuch")));
      step("refused", () -> refusal(() -> statement.executeUpdate("CREATE DATABASE owned")));
      step("internal", () -> refusal(() -> statement.executeQuery("SELECT * FROM gatewatch.order_watch")));
      try (PreparedStatement prepared = connection.prepareStatement("SELECT ? + 1, ?")) {
        prepared.setInt(1, 4);
        prepared.setString(2, "it's");
        step("prepared", () -> {
          ResultSet row = prepared.executeQuery();
          row.next();
          return row.getInt(1) + " " + row.getString(2);
        });
      }
    }
  }

  interface Work<T> {
    T run() throws Exception;
  }

  static void step(String name, Work<String> work) {
    String text;
    try {
      text = work.run();
    } catch (Exception error) {
      text = "failed: " + error;
    }
    System.out.println(name + "=" + text.split("\n")[0]);
  }

  static String refusal(Work<Object> work) throws Exception {
    try {
      work.run();
      return "answered";
    } catch (SQLException error) {
      return error.getMessage();
    }
  }

  static String column(ResultSet rows, String name) throws SQLException {
    List<String> values = new ArrayList<>();
    while (rows.next()) values.add(rows.getString(name));
    return String.join(",", values);
  }
}
