package com.github.nexmark.flink.udf;

import org.apache.flink.table.functions.ScalarFunction;

/** Counts a character in a string, as the function of the benchmark Nexmark does. */
public class CountChar extends ScalarFunction {
    public long eval(String text, String character) {
        long count = 0;
        if (text != null && !character.isEmpty()) {
            char wanted = character.charAt(0);
            for (int place = 0; place < text.length(); place++) {
                if (text.charAt(place) == wanted) {
                    count++;
                }
            }
        }
        return count;
    }
}
