#include "reports/point_labels.hpp"

#include <gtest/gtest.h>

namespace roofcast::reports {
namespace {

Box box_of(const PointLabel& label) {
  return {label.at.x, label.at.y - 7, label.at.x + text_width(label.text), label.at.y + 7};
}

TEST(PointLabels, StandRightOfTheirPointWhereThereIsRoom) {
  const auto labels = point_labels({"name"}, {{100, 100}}, {{}, {}, 400, 300});
  ASSERT_TRUE(labels[0]);
  EXPECT_GT(labels[0]->at.x, 100);
  EXPECT_EQ(labels[0]->at.y, 100);
  EXPECT_FALSE(labels[0]->tip);
}

TEST(PointLabels, StayInTheFrameAndCoverNothing) {
  std::vector<std::string> texts;
  std::vector<Pixel> anchors;
  std::vector<Box> points;
  for (int i = 0; i < 12; ++i) {
    const Pixel at{380.0 - 8 * i, 30.0 + 20 * i};
    texts.push_back("kernel " + std::to_string(i));
    anchors.push_back(at);
    points.push_back({at.x - 5, at.y - 5, at.x + 5, at.y + 5});
  }
  const auto labels = point_labels(texts, anchors, {points, {}, 400, 300});
  std::vector<Box> boxes = points;
  for (const auto& label : labels) {
    ASSERT_TRUE(label);
    const Box box = box_of(*label);
    EXPECT_GE(box.left, 0);
    EXPECT_LE(box.right, 400);
    EXPECT_GE(box.bottom, 0);
    EXPECT_LE(box.top, 300);
    for (const Box& other : boxes) EXPECT_FALSE(box.overlaps(other)) << label->text;
    boxes.push_back(box);
  }
}

TEST(PointLabels, AvoidLines) {
  const std::vector<Box> line = {{0, 99, 400, 101}};
  const auto labels = point_labels({"name"}, {{100, 100}}, {{}, line, 400, 300});
  ASSERT_TRUE(labels[0]);
  EXPECT_FALSE(box_of(*labels[0]).overlaps(line[0]));
}

TEST(PointLabels, AreLeftOutWhereNothingIsFree) {
  EXPECT_FALSE(point_labels({"name"}, {{100, 100}}, {{{0, 0, 400, 300}}, {}, 400, 300})[0]);
  EXPECT_FALSE(point_labels({""}, {{100, 100}}, {{}, {}, 400, 300})[0]);
}

}  // namespace
}  // namespace roofcast::reports
